#!/bin/sh
# Vendor API V3 with curl alone: payers, a claim, a refusal, the claim's states, benefits.
#
#   examples/curl.sh [DATA [SECONDS]]     DATA: data directory of a running sandbox (CLEARLANE_DATA, .data)
#                                         SECONDS: how long to follow the claim (60)
set -eu
data=${1:-${CLEARLANE_DATA:-.data}}
seconds=${2:-60}
here=$(dirname "$0")

# Print one field of sandbox.json, which has one field per line.
fact() {
    sed -n "s/^ *\"$1\": \"\(.*\)\",\{0,1\}\$/\1/p" "$data/sandbox.json"
}

# call PATH QUERY [BODY]: the credentials go through standard input, where no list of processes shows them.
call() {
    printf 'user = "%s:%s"\n' "$(fact vendor_key)" "$(fact vendor_password)" |
        curl --config - --silent --show-error ${authority:+--cacert "$authority"} \
            --header 'Content-Type: application/json' --data "${3-}" --dump-header "$headers" \
            "$(fact base_url)/api/v3/$1?vendorSiteId=$(fact vendor_site_id)$2"
}

# The service's day, from the last answer: a sandbox may be ahead of this machine.
service_day() {
    sed -n 's/^x-service-time: \([0-9-]*\)T.*/\1/p' "$headers"
}

authority=$(fact ca_file)
headers=$(mktemp)
trap 'rm -f "$headers"' EXIT
id="CURL-$(date -u +%Y%m%d%H%M%S)-$$"

payers=$(call payers/get_list_of_test '&type=medical' | grep -o '"PayerId":"[^"]*"' | tr '\n' ' ')
echo "payers: $payers"

today=$(service_day)
claim=$(sed "s/@CLAIM_ID@/$id/; s/@DAY@/$today/" "$here/claim.json")

echo "submitted: $(call claims/submit '' "$claim")"
# Sent again, because a network may lose an answer: the same result, and no second claim.
echo "again: $(call claims/submit '' "$claim")"

wrong=$(printf '%s' "$claim" | sed "s/$id/$id-WRONG/; s/\"F28_TotalCharge\": \"100.00\"/\"F28_TotalCharge\": \"1.00\"/")
echo "refused: $(call claims/submit '' "$wrong")"

state=none
while [ "$seconds" -gt 0 ] && [ "$state" != Complete ] && [ "$state" != Rejected ]; do
    rows=$(call claims/status/get_by_date "&startDate=$today&endDate=$(service_day)")
    now=$(printf '%s' "$rows" | tr '}' '\n' | grep "\"$id\"" | sed 's/.*"CurrentState":"\([A-Za-z]*\)".*/\1/')
    [ "$now" = "$state" ] || echo "state: $now"
    state=$now
    seconds=$((seconds - 1))
    sleep 1
done

benefits=$(call eligibility/submit '' "$(cat "$here/inquiry.json")")
echo "benefits: $(printf '%s' "$benefits" | cut -c 1-200)"

# Whoever runs this in a script learns whether it got what it waited for.
[ "$state" = Complete ] || { echo "$id is not Complete but $state." >&2; exit 1; }
case $benefits in *ResultsComplete*) ;; *) echo "The benefits have not come." >&2; exit 1 ;; esac
