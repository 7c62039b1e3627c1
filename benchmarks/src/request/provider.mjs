import { createServer } from 'node:http'

// A provider with the API of OpenAI, in a process of its own. The question names the workload that it answers.

/** Milliseconds between two chunks of a slow answer. */
const chunkPause = 2
const pieces = Array.from({ length: 200 }, (_, i) => `word${i % 10} `)
const pieceDeltas = pieces.map((content, i) => (i === 0 ? { role: 'assistant', content } : { content }))

/** Each answer has its own id. Some clients replace a message with another one of the same id. */
let answers = 0

const server = createServer(async (request, response) => {
  let body = ''
  for await (const piece of request.setEncoding('utf8')) body += piece
  const { messages } = JSON.parse(body)
  const last = messages.at(-1)
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  if (last.role === 'tool') return reply(response, text(`The tool says: ${last.content}.`))
  const question = textOf(last.content)
  if (question.startsWith('W3')) return reply(response, toolCall(messages.length))
  if (question.startsWith('W2')) return reply(response, { deltas: pieceDeltas, reason: 'stop' })
  if (question.startsWith('W5')) return stream(response)
  if (question.startsWith('W6')) return response.write(frame('held', pieceDeltas[0]))
  reply(response, text(`Here is the answer to "${question}".`))
})

// A client that reuses a connection at the moment in which the server closes it fails, unless it retries.
server.keepAliveTimeout = 600_000
// With these, a connection that is kept for minutes may be answered with 408.
server.requestTimeout = 0
server.headersTimeout = 0
server.listen(0, '127.0.0.1', () => process.send(server.address().port))
process.on('disconnect', () => process.exit())

const text = (content) => ({ deltas: [{ role: 'assistant', content }], reason: 'stop' })

function toolCall(n) {
  const call = { index: 0, id: `call-${n}`, type: 'function' }
  const fn = { name: 'weather', arguments: '{"city":"Oslo"}' }
  return { deltas: [{ role: 'assistant', tool_calls: [{ ...call, function: fn }] }], reason: 'tool_calls' }
}

function reply(response, { deltas, reason }) {
  const id = `chatcmpl-${answers++}`
  for (const delta of deltas) response.write(frame(id, delta))
  response.end(ending(id, reason))
}

function stream(response) {
  const id = `chatcmpl-${answers++}`
  let next = 0
  const timer = setInterval(() => {
    if (response.destroyed) return clearInterval(timer)
    response.write(frame(id, pieceDeltas[next++]))
    if (next < pieceDeltas.length) return
    clearInterval(timer)
    response.end(ending(id, 'stop'))
  }, chunkPause)
}

function frame(id, delta, finish_reason = null, more = {}) {
  const choices = [{ index: 0, delta, finish_reason }]
  return `data: ${JSON.stringify({ id, object: 'chat.completion.chunk', created: 1, model: 'mock', choices, ...more })}\n\n`
}

function ending(id, reason) {
  const usage = { prompt_tokens: 20, completion_tokens: 10, total_tokens: 30 }
  return `${frame(id, {}, reason, { usage })}data: [DONE]\n\n`
}

function textOf(content) {
  return typeof content === 'string' ? content : content.map((part) => part.text ?? '').join('')
}
