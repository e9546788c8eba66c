// A loopback proxy that adds the key to each request, since the conformance suite has no way to send a header. All else
// passes as it is: Host and Origin (which the suite forges to test the server), bodies, and streams while they come.
//
//   node proxy.mjs SERVER_PORT KEY    prints the port it listens on

import { createServer, request } from "node:http";

const [serverPort, key] = process.argv.slice(2);

const proxy = createServer((incoming, outgoing) => {
  const headers = { ...incoming.headers, authorization: `Bearer ${key}` };
  const { method, url: path } = incoming;
  const forwarded = request({ host: "127.0.0.1", port: serverPort, method, path, headers }, (answer) => {
    outgoing.writeHead(answer.statusCode, answer.headers);
    // Without this a stream's headers would wait for its first event.
    outgoing.flushHeaders();
    answer.pipe(outgoing);
  });
  forwarded.on("error", () => outgoing.destroy());
  // A client that hangs up must be gone for the server too: that is how a request is cancelled.
  outgoing.on("close", () => forwarded.destroy());
  incoming.pipe(forwarded);
});
proxy.listen(0, "127.0.0.1", () => console.log(proxy.address().port));
