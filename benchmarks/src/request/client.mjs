import { Agent, request } from 'node:http'

const tenants = 4

/** Keeps connections open for some requests. Destroy it before the server closes idle connections. */
export const connections = () => new Agent({ keepAlive: true })

/**
 * Sends one chat request and reads the whole stream.
 *
 * @param {import('./protocols.mjs').Protocol} protocol
 * @returns {Promise<{ text: string, bytes: number, first: number, total: number }>} `first` is the time to the first chunk of the
 *   answer, in milliseconds
 */
export async function chat(port, session, input, { agent, protocol }) {
  const { path, body: sent, answered } = protocol(port, session, input)
  const started = performance.now()
  const response = await send(port, 'POST', path, session, { agent, body: JSON.stringify(sent) })
  let [body, first] = ['', 0]
  for await (const piece of response.setEncoding('utf8')) {
    body += piece
    if (first === 0 && body.includes('text-delta')) first = performance.now() - started
  }
  const total = performance.now() - started
  if (response.statusCode !== 200) throw new Error(`${response.statusCode}: ${body}`)
  const events = eventsOf(body)
  answered?.(events)
  return { text: answerOf(events), bytes: Buffer.byteLength(body), first, total }
}

/** Returns the stored history of a session, one line per text or tool result. */
export async function history(port, session) {
  const response = await send(port, 'GET', `/sessions/${session}/messages`, session)
  const body = (await response.setEncoding('utf8').toArray()).join('')
  return JSON.parse(body).messages.flatMap((message) => linesOf(message))
}

function send(port, method, path, session, { agent, body } = {}) {
  const tenant = `tenant-${Number(session.split('-').at(-1)) % tenants}`
  const headers = { authorization: `Bearer ${tenant}`, 'content-type': 'application/json', accept: 'text/event-stream' }
  return new Promise((resolve, reject) => {
    const sent = request({ agent, host: '127.0.0.1', port, method, path, headers }, resolve)
    sent.on('error', reject).end(body)
  })
}

function eventsOf(body) {
  return [...body.matchAll(/^data: (.*)$/gm)].flatMap(([, data]) => (data === '[DONE]' ? [] : [JSON.parse(data)]))
}

/** Joins the text chunks. A stream with an error is not an answer. */
function answerOf(events) {
  const error = events.find(({ type }) => type === 'run:error' || type === 'error')
  if (error !== undefined) throw new Error(JSON.stringify(error))
  return events.map(({ type, delta }) => (type === 'text-delta' ? delta : '')).join('')
}

/** Messages of OpenAI's API, and those of a page of the AI SDK. */
function linesOf({ role, content, parts }) {
  if (parts === undefined) return content === '' ? [] : [`${role}: ${content}`]
  return parts.flatMap((part) => {
    if (part.type === 'text') return [`${role}: ${part.text}`]
    return part.type.startsWith('tool-') || part.type === 'dynamic-tool' ? [`tool: ${part.output}`] : []
  })
}
