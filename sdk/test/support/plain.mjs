// An application that logs once and then has an empty event loop. Arguments: entry of the package, URL, and JSON of
// further options.
const [entry, apiUrl, options = "{}"] = process.argv.slice(2);
const { createLogger } = await import(`../../dist/${entry}`);
const logger = createLogger({ apiUrl, projectId: "proj_test", ...JSON.parse(options) });
for (let n = 0; n < 10; n++) logger.info("entry", { n });
process.on("exit", () => console.log(JSON.stringify(logger.stats())));
