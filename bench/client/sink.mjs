/** A server that accepts everything and answers 201, in a separate process. Prints its port. */
import { createServer } from "node:http";

const server = createServer((request, response) => {
  request.resume().on("end", () => {
    response.writeHead(201, { "Content-Type": "application/json" }).end('{"data":{"rejected":[]}}');
  });
});
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
