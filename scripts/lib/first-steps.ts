/**
 * Commands that play the main job when pasted into a shell: an account, a project, a key, one entry, one query. They
 * require only curl, grep, sed and date.
 */
export function firstSteps(address: string): string {
  const json = `-H 'Content-Type: application/json'`;
  return [
    `URL=${address}`,
    `ME=$(curl -s $URL/auth/register ${json} -d '{"email":"me-'$(date +%s)-$RANDOM'@example.com","password":"a long pass phrase"}')`,
    `TOKEN=$(echo "$ME" | grep -o 'eyJ[A-Za-z0-9_.-]*' | head -n 1); SPACE=$(echo "$ME" | grep -o 'ws_[A-Za-z0-9]*' | head -n 1)`,
    `PROJECT=$(curl -s $URL/projects -H "Authorization: Bearer $TOKEN" -H "X-Workspace-Id: $SPACE" ${json} -d '{"name":"first"}' | grep -o 'proj_[A-Za-z0-9]*' | head -n 1)`,
    `KEY=$(curl -s $URL/projects/$PROJECT/keys -H "Authorization: Bearer $TOKEN" -H "X-Workspace-Id: $SPACE" ${json} -d '{"name":"first","scopes":["logs:write","logs:read"]}' | sed 's/.*"secret":"\\([^"]*\\)".*/\\1/')`,
    `curl -s $URL/logger/$PROJECT/log -H "Authorization: Bearer $KEY" ${json} -d '{"level":"error","message":"Hello from curl"}'; echo`,
    `curl -s $URL/logger/query -H "Authorization: Bearer $KEY" ${json} -d '{"filters":{"level":"error","search":"hello"}}'; echo`,
  ].join("\n");
}
