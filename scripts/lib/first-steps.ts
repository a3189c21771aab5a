/**
 * Commands that play the main job when pasted into a shell: an account, a project, a key, one entry, one query. They
 * require only curl, sed and date. Values are read between their quotes: a token is random, and may contain `ws_`.
 */
export function firstSteps(address: string): string {
  const json = `-H 'Content-Type: application/json'`;
  return [
    `URL=${address}`,
    `ME=$(curl -s $URL/auth/register ${json} -d '{"email":"me-'$(date +%s)-$RANDOM'@example.com","password":"a long pass phrase"}')`,
    `TOKEN=$(echo "$ME" | sed -n 's/.*"accessToken":"\\([^"]*\\)".*/\\1/p'); SPACE=$(echo "$ME" | sed -n 's/.*"id":"\\(ws_[^"]*\\)".*/\\1/p')`,
    `PROJECT=$(curl -s $URL/projects -H "Authorization: Bearer $TOKEN" -H "X-Workspace-Id: $SPACE" ${json} -d '{"name":"first"}' | sed -n 's/.*"id":"\\(proj_[^"]*\\)".*/\\1/p')`,
    `KEY=$(curl -s $URL/projects/$PROJECT/keys -H "Authorization: Bearer $TOKEN" -H "X-Workspace-Id: $SPACE" ${json} -d '{"name":"first","scopes":["logs:write","logs:read"]}' | sed -n 's/.*"secret":"\\([^"]*\\)".*/\\1/p')`,
    `curl -s $URL/logger/$PROJECT/log -H "Authorization: Bearer $KEY" ${json} -d '{"level":"error","message":"Hello from curl"}'; echo`,
    `curl -s $URL/logger/query -H "Authorization: Bearer $KEY" ${json} -d '{"filters":{"level":"error","search":"hello"}}'; echo`,
  ].join("\n");
}
