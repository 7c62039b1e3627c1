import { events } from '../sse.mjs'

/** Calls the provider as a program without a framework does. Yields its deltas. */
export async function* modelCall({ url, messages, tools, signal }) {
  const response = await fetch(`${url}/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: 'Bearer none' },
    body: JSON.stringify({ model: 'mock', stream: true, stream_options: { include_usage: true }, messages, tools }),
    signal,
  })
  if (!response.ok) throw new Error(`The provider answered with ${response.status}.`)
  for await (const data of events(response.body)) {
    if (data === '[DONE]') return
    const { choices } = JSON.parse(data)
    yield choices[0].delta
  }
}
