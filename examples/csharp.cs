// Vendor API V3 from C#: payers, a claim, a refusal, the claim's states, benefits.
//
//   mcs examples/csharp.cs -out:scratch/csharp.exe -r:System.Net.Http.dll -r:/usr/lib/cli/Newtonsoft.Json-5.0/Newtonsoft.Json.dll
//   cert-sync --user .data/tls/ca.pem    (once: mono then trusts the sandbox's certificates)
//   mono scratch/csharp.exe [DATA [SECONDS]]     DATA: data directory of a running sandbox (CLEARLANE_DATA, .data)
//
// Runs from the directory that holds `examples`. Needs Json.NET and nothing else: on Debian mono-mcs, mono-runtime,
// libmono-system-net-http4.0-cil and libnewtonsoft-json-cil-dev.
using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Net;
using System.Net.Http;
using System.Net.Http.Headers;
using System.Text;
using System.Threading;
using Newtonsoft.Json;
using Newtonsoft.Json.Linq;

/// <summary>What the service refused, with its status.</summary>
class Refused : Exception
{
    public readonly int Status;

    public Refused(int status, string text) : base(Describe(status, text)) { Status = status; }

    // V3 marks a missing agreement by the integer before the first colon.
    static string Describe(int status, string text)
    {
        int number;
        bool baa = status == 401 && text.Contains(":") && int.TryParse(text.Split(':')[0], out number) && number == 201;
        return baa ? "The client has not accepted the Business Associate Agreement." : status + ": " + text;
    }
}

/// <summary>One vendor's calls to one service.</summary>
class VendorApi : IDisposable
{
    readonly HttpClient http;
    readonly string site;
    readonly string address;

    /// <summary>The service's day by its last answer: a sandbox may be ahead of this machine.</summary>
    public string Today { get; private set; }

    public VendorApi(JObject sandbox)
    {
        // mono finds the name of a host in a certificate, not an address.
        address = ((string)sandbox["base_url"]).Replace("//127.0.0.1:", "//localhost:");
        site = (string)sandbox["vendor_site_id"];
        http = new HttpClient { Timeout = TimeSpan.FromSeconds(75) };
        var pair = Encoding.UTF8.GetBytes(sandbox["vendor_key"] + ":" + sandbox["vendor_password"]);
        http.DefaultRequestHeaders.Authorization =
            new AuthenticationHeaderValue("Basic", Convert.ToBase64String(pair));
        Today = DateTime.UtcNow.ToString("yyyy-MM-dd");
    }

    public void Dispose() { http.Dispose(); }

    /// <summary>One call: POST, query, JSON. Returns the answer, throws what was refused.</summary>
    public JToken Call(string path, Dictionary<string, string> query = null, JToken body = null)
    {
        var given = new Dictionary<string, string>(query ?? new Dictionary<string, string>());
        given["vendorSiteId"] = site;
        var pairs = given.Select(each => each.Key + "=" + Uri.EscapeDataString(each.Value));
        var url = address + "/api/v3/" + path + "?" + string.Join("&", pairs);
        var text = body == null ? "" : body.ToString(Formatting.None);
        using (var content = new StringContent(text, Encoding.UTF8, "application/json"))
        using (var answer = http.PostAsync(url, content).GetAwaiter().GetResult())
        {
            var said = answer.Content.ReadAsStringAsync().GetAwaiter().GetResult();
            IEnumerable<string> times;
            if (answer.Headers.TryGetValues("X-Service-Time", out times))
                Today = times.First().Substring(0, 10);
            else if (answer.Headers.Date != null)
                Today = answer.Headers.Date.Value.UtcDateTime.ToString("yyyy-MM-dd");
            if (answer.StatusCode != HttpStatusCode.OK)
                throw new Refused((int)answer.StatusCode, said);
            return Read(said);
        }
    }

    /// <summary>Read JSON with dates as they are written and amounts with every digit.</summary>
    public static JToken Read(string text)
    {
        var reader = new JsonTextReader(new StringReader(text))
        {
            DateParseHandling = DateParseHandling.None,
            FloatParseHandling = FloatParseHandling.Decimal,
        };
        return JToken.Load(reader);
    }
}

static class Program
{
    static readonly string[] Final = { "Complete", "Rejected" };

    static int Main(string[] arguments)
    {
        var data = arguments.Length > 0 ? arguments[0] : Environment.GetEnvironmentVariable("CLEARLANE_DATA") ?? ".data";
        var seconds = arguments.Length > 1 ? double.Parse(arguments[1]) : 60;
        var sandbox = (JObject)VendorApi.Read(File.ReadAllText(Path.Combine(data, "sandbox.json")));
        using (var api = new VendorApi(sandbox))
            return Walk(api, DateTime.UtcNow.AddSeconds(seconds));
    }

    static int Walk(VendorApi api, DateTime end)
    {
        var payers = api.Call("payers/get_list_of_test", Query("type", "medical"));
        Console.WriteLine("payers: " + string.Join(" ", payers.Select(payer => (string)payer["PayerId"])));

        var id = "CSHARP-" + DateTime.UtcNow.ToString("yyyyMMddHHmmssfff");
        var day = api.Today;
        var claim = VendorApi.Read(Sample("claim.json").Replace("@CLAIM_ID@", id).Replace("@DAY@", day));
        // Sent twice, because a network may lose an answer: the same result, and no second claim.
        foreach (var word in new[] { "submitted", "again" })
        {
            var result = api.Call("claims/submit", null, claim)["ClaimResults"][0];
            Console.WriteLine("{0}: {1} {2}", word, result["Status"], result["RequestId"]);
        }

        var wrong = claim.DeepClone();
        wrong["Claims"][0]["Svc_VendorClaimId"] = id + "-WRONG";
        wrong["Claims"][0]["F28_TotalCharge"] = "1.00";
        var refused = api.Call("claims/submit", null, wrong)["ClaimResults"][0];
        var reasons = refused["Errors"].Select(error => (string)error["SupplementalInformation"]);
        Console.WriteLine("refused: {0} {1}", refused["Status"], string.Join(" ", reasons));

        try
        {
            api.Call("claims/submit", null, new JObject { { "DocumentType", "MedicalClaim" }, { "Claims", new JArray() } });
        }
        catch (Refused fault)
        {
            Console.WriteLine("malformed: " + fault.Message);
        }

        var state = Follow(api, id, day, end);
        var benefits = Benefits(api, end);
        if (state == "Complete" && benefits == "ResultsComplete")
            return 0;
        Console.Error.WriteLine("{0} is {1}, the benefits are {2}.", id, state == "" ? "unknown" : state, benefits);
        return 1;
    }

    /// <summary>Print each state of a claim until nothing more is to come; return the last.</summary>
    static string Follow(VendorApi api, string id, string day, DateTime end)
    {
        var state = "";
        while (!Final.Contains(state) && DateTime.UtcNow < end)
        {
            var rows = api.Call("claims/status/get_by_date", Query("startDate", day, "endDate", api.Today));
            var row = rows.FirstOrDefault(each => (string)each["VendorClaimId"] == id);
            if (row != null && (string)row["CurrentState"] != state)
            {
                state = (string)row["CurrentState"];
                Console.WriteLine("state: {0} {1} {2}", state, row["PayerAction"], row["PayerAmount"]);
            }
            Thread.Sleep(500);
        }
        return state;
    }

    /// <summary>Ask about a patient's benefits until every payer has answered; return the request's status.</summary>
    static string Benefits(VendorApi api, DateTime end)
    {
        var answer = api.Call("eligibility/submit", null, VendorApi.Read(Sample("inquiry.json")));
        while ((string)answer["Status"] == "ResultsIncomplete" && DateTime.UtcNow < end)
        {
            Thread.Sleep(2000);
            answer = api.Call("eligibility/get_responses", Query("requestId", (string)answer["RequestId"]));
        }
        Console.WriteLine("benefits: {0} {1}", answer["Status"], answer["Responses"].Count());
        return (string)answer["Status"];
    }

    static Dictionary<string, string> Query(params string[] pairs)
    {
        var found = new Dictionary<string, string>();
        for (var at = 0; at < pairs.Length; at += 2)
            found[pairs[at]] = pairs[at + 1];
        return found;
    }

    static string Sample(string name) { return File.ReadAllText(Path.Combine("examples", name)); }
}
