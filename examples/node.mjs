// Vendor API V3 from node's standard library alone: payers, a claim, a refusal, the claim's states, benefits.
//
//   node examples/node.mjs [DATA [SECONDS]]     DATA: data directory of a running sandbox (CLEARLANE_DATA, .data)
import { readFileSync } from "node:fs";
import { request } from "node:https";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

const [data = process.env.CLEARLANE_DATA ?? ".data", seconds = "60"] = process.argv.slice(2);
const here = dirname(fileURLToPath(import.meta.url));
const sandbox = JSON.parse(readFileSync(join(data, "sandbox.json"), "utf8"));
const ca = sandbox.ca_file ? readFileSync(sandbox.ca_file) : undefined;

class Refused extends Error {
  constructor(status, text) {
    // V3 marks a missing agreement by the integer before the first colon.
    const baa = status === 401 && text.includes(":") && parseInt(text.split(":")[0], 10) === 201;
    super(baa ? "The client has not accepted the Business Associate Agreement." : `${status}: ${text}`);
    this.status = status;
  }
}

// The service's day, from its last answer: a sandbox may be ahead of this machine.
let serviceDay = new Date().toISOString().slice(0, 10);

/** One call: POST, query, JSON; resolves to the answer, rejects with what was refused. */
function call(path, query = {}, body = undefined) {
  const url = new URL(`${sandbox.base_url}/api/v3/${path}`);
  url.search = new URLSearchParams({ vendorSiteId: sandbox.vendor_site_id, ...query });
  const content = body === undefined ? "" : JSON.stringify(body);
  const options = {
    method: "POST",
    ca,
    auth: `${sandbox.vendor_key}:${sandbox.vendor_password}`,
    headers: { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(content) },
  };
  return new Promise((resolve, reject) => {
    const outgoing = request(url, options, (answer) => {
      const pieces = [];
      answer.on("data", (piece) => pieces.push(piece));
      answer.on("error", reject);
      answer.on("end", () => {
        const text = Buffer.concat(pieces).toString("utf8");
        serviceDay = (answer.headers["x-service-time"] ?? serviceDay).slice(0, 10);
        if (answer.statusCode === 200) resolve(JSON.parse(text));
        else reject(new Refused(answer.statusCode, text || answer.headers["x-message"] || ""));
      });
    });
    outgoing.on("error", reject);
    outgoing.end(content);
  });
}

const read = (name) => readFileSync(join(here, name), "utf8");
const id = `NODE-${Date.now()}-${process.pid}`;

const payers = await call("payers/get_list_of_test", { type: "medical" });
console.log("payers:", payers.map((payer) => payer.PayerId).join(" "));

const today = serviceDay;
const claim = JSON.parse(read("claim.json").replaceAll("@CLAIM_ID@", id).replace("@DAY@", today));
for (const word of ["submitted:", "again:"]) {
  const [result] = (await call("claims/submit", {}, claim)).ClaimResults;
  console.log(word, result.Status, result.RequestId);
}

const wrong = { ...claim.Claims[0], Svc_VendorClaimId: `${id}-WRONG`, F28_TotalCharge: "1.00" };
const [refused] = (await call("claims/submit", {}, { ...claim, Claims: [wrong] })).ClaimResults;
console.log("refused:", refused.Status, ...refused.Errors.map((error) => error.SupplementalInformation));

try {
  await call("claims/submit", {}, { ...claim, Claims: [] });
} catch (fault) {
  if (!(fault instanceof Refused)) throw fault;
  console.log("malformed:", fault.message);
}

const end = Date.now() + Number(seconds) * 1000;
let state = "";
while (!["Complete", "Rejected"].includes(state) && Date.now() < end) {
  const rows = await call("claims/status/get_by_date", { startDate: today, endDate: serviceDay });
  const row = rows.find((each) => each.VendorClaimId === id);
  if (row && row.CurrentState !== state) {
    state = row.CurrentState;
    console.log("state:", state, row.PayerAction, row.PayerAmount);
  }
  await sleep(500);
}

let answer = await call("eligibility/submit", {}, JSON.parse(read("inquiry.json")));
while (answer.Status === "ResultsIncomplete" && Date.now() < end) {
  await sleep(2000);
  answer = await call("eligibility/get_responses", { requestId: answer.RequestId });
}
console.log("benefits:", answer.Status, answer.Responses.length);

// Whoever runs this in a script learns whether it got what it waited for.
if (state !== "Complete" || answer.Status !== "ResultsComplete") {
  console.error(`${id} is ${state || "unknown"}, the benefits are ${answer.Status}.`);
  process.exitCode = 1;
}
