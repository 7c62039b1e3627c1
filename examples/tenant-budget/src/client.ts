/** Handles events like a chat window: it appends text, and a reset removes it. */
export interface Answered {
  /** The HTTP status. */
  http: number
  /** The status of the run, if it started. */
  status?: string
  /** The text that is shown at the end. */
  text: string
  resets: number
  /** Seconds, for a rejected request. */
  retryAfter?: number
}

export async function ask(url: string, key: string, question: string): Promise<Answered> {
  const response = await fetch(`${url}/chat`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ question }),
  })
  const answered: Answered = { http: response.status, text: '', resets: 0 }
  if (response.status === 429) answered.retryAfter = Number(response.headers.get('retry-after'))
  if (response.status !== 200 || response.body === null) return answered
  let rest = ''
  for await (const piece of response.body.pipeThrough(new TextDecoderStream())) {
    const events = (rest + piece).split('\n\n')
    rest = events.pop() ?? ''
    for (const event of events) take(answered, event)
  }
  return answered
}

function take(answered: Answered, event: string): void {
  const [, name, data = '""'] = /^event: (\w+)\ndata: (.*)$/.exec(event) ?? []
  if (name === 'text') answered.text += JSON.parse(data)
  if (name === 'end') Object.assign(answered, JSON.parse(data))
  if (name === 'failed') answered.status = 'failed'
  if (name !== 'reset') return
  answered.text = ''
  answered.resets++
}

export async function fetchBill(url: string, key: string): Promise<{ lines: number[]; total: number }> {
  const response = await fetch(`${url}/bill`, { headers: { authorization: `Bearer ${key}` } })
  return response.json() as Promise<{ lines: number[]; total: number }>
}
