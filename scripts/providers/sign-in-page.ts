/**
 * The only page of a local provider: sign in as any user, or refuse. It replaces login and consent of a real provider.
 */
export function signInPage(provider: string, action: string): string {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${provider}: sign in</title>
<style>
  body { font: 16px/1.5 system-ui, sans-serif; max-width: 26rem; margin: 4rem auto; padding: 0 1rem; color: #1c2430; }
  label { display: block; margin: 1rem 0 0; }
  input[type=email], input[type=text] { display: block; width: 100%; box-sizing: border-box; padding: .5rem; font: inherit; }
  button { margin: 1.5rem .5rem 0 0; padding: .5rem 1rem; font: inherit; }
  small { color: #56617a; }
</style>
<h1>${provider}</h1>
<p>A local identity provider for tests. You can sign in as any user.</p>
<form method="post" action="${action}">
  <label>E-mail address <input type="email" name="email" value="ada@example.com" required autofocus></label>
  <label>Name <input type="text" name="name" value="Ada Lovelace"></label>
  <label><input type="checkbox" name="verified" value="yes" checked> This provider has verified the address</label>
  <label>Account id <input type="text" name="subject" pattern="[0-9]*">
    <small>Derived from the address if empty. The service identifies users by this id, not by their address.</small></label>
  <button name="decision" value="allow">Sign in</button>
  <button name="decision" value="deny">Refuse</button>
</form>
</html>
`;
}
