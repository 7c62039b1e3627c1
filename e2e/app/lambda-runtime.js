// Stands in for the Node runtime of AWS Lambda: its global, and a function URL that streams responses.
import { createServer } from 'node:http'

let handle
globalThis.awslambda = {
  streamifyResponse: (handler) => (handle = handler),
  HttpResponseStream: {
    from(stream, { statusCode, headers, cookies }) {
      stream.writeHead(statusCode, { ...headers, 'set-cookie': cookies })
      return stream
    },
  },
}
await import(process.argv[2])

createServer(async (request, response) => {
  const { pathname, search } = new URL(request.url, 'http://localhost')
  const { cookie, host, ...headers } = request.headers
  const chunks = []
  for await (const chunk of request) chunks.push(chunk)
  const event = {
    rawPath: pathname,
    rawQueryString: search.slice(1),
    headers: { ...headers, host },
    cookies: cookie === undefined ? [] : cookie.split('; '),
    requestContext: { domainName: host, http: { method: request.method } },
    ...(chunks.length > 0 && { body: Buffer.concat(chunks).toString('base64'), isBase64Encoded: true }),
  }
  await handle(event, response, { getRemainingTimeInMillis: () => 60_000 })
}).listen(Number(process.env.PORT), '127.0.0.1')
