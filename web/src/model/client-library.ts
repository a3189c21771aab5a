/** How to install the client library. See docs/client/README.md. */
export const INSTALL_NOTE =
  "The library is not in the npm registry. In a clone of Taffrail: npm ci && npm run sdk:build && npm pack -w sdk. In your " +
  "application: npm install with the path of the .tgz file (docs/client/README.md).";
