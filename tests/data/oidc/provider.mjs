// A certified provider with its defaults: people type any password, and addresses and groups are told by userinfo alone.
// People are read from a file at every question, so that a test can change their groups.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [modules, port, app, people] = process.argv.slice(2);
const found = createRequire(`${modules}/`).resolve("oidc-provider");
const { Provider } = await import(pathToFileURL(found).href);
const account = (id) => JSON.parse(readFileSync(people, "utf8"))[id];

const provider = new Provider(`http://127.0.0.1:${port}`, {
  clients: [
    {
      client_id: "concord",
      client_secret: "a secret of thirty-two characters",
      redirect_uris: [`${app}/oauth2callback`],
      post_logout_redirect_uris: [`${app}/sign-in?signed_out`],
    },
  ],
  claims: { openid: ["sub"], email: ["email", "email_verified"], groups: ["groups"] },
  scopes: ["openid", "email", "groups"],
  cookies: { keys: ["for tests alone"] },
  findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id, ...account(id) }) }),
});
provider.listen(Number(port), "127.0.0.1", () => console.log("ready"));
