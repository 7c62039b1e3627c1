import { once } from 'node:events'
import { Agent, type IncomingMessage, request } from 'node:http'

const agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY })
let ids = 0

/** Asks for a run in a session of its own, and gives its stream. */
export async function ask(url: string, input: string, session = `load-${++ids}`): Promise<IncomingMessage> {
  const body = JSON.stringify({ input })
  const headers = { 'content-type': 'application/json', 'content-length': body.length, accept: 'text/event-stream' }
  const asked = request(`${url}/sessions/${session}/runs`, { method: 'POST', agent, headers })
  asked.end(body)
  const [response] = (await once(asked, 'response')) as [IncomingMessage]
  return response
}

/** Opens another reader of a session's last run. */
export async function follow(url: string, session: string): Promise<IncomingMessage> {
  const asked = request(`${url}/sessions/${session}/events`, { agent: new Agent() })
  asked.end()
  const [response] = (await once(asked, 'response')) as [IncomingMessage]
  return response
}

/** Reads a stream to its end; tells what is wrong with it, or nothing. */
export async function faultOf(response: IncomingMessage, chunks: number): Promise<string | undefined> {
  if (response.statusCode !== 200) return `status ${response.statusCode}`
  let came = 0
  let tail = ''
  try {
    for await (const bytes of response as AsyncIterable<Buffer>) {
      came += count(tail.slice(-mark.length + 1) + bytes.toString('latin1'))
      tail = (tail + bytes.toString('latin1')).slice(-400)
    }
  } catch (error) {
    return String(error)
  }
  if (came !== chunks) return `${came} chunks of ${chunks}`
  return tail.includes('"status":"completed"') ? undefined : 'no end'
}

/** Asks, and reads all of it; tells what is wrong, or nothing. */
export async function whole(url: string, input: string, chunks: number): Promise<string | undefined> {
  return ask(url, input).then(
    (response) => faultOf(response, chunks),
    (error) => String(error),
  )
}

/** Each piece has it once; pieces that nobody has read yet go as one event. */
const mark = 'word '

function count(text: string): number {
  let found = 0
  for (let at = text.indexOf(mark); at !== -1; at = text.indexOf(mark, at + mark.length)) found++
  return found
}
