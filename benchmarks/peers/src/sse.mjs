import { streamSSE } from 'hono/streaming'

/** Streams the texts of an answer as server-sent events, as the side by hand does. */
export function streamTexts(context, texts, done) {
  return streamSSE(context, async (sse) => {
    try {
      for await (const delta of texts)
        if (delta !== '')
          await sse.writeSSE({ event: 'text-delta', data: JSON.stringify({ type: 'text-delta', delta }) })
      await sse.writeSSE({ event: 'end', data: JSON.stringify({ type: 'end' }) })
    } catch (error) {
      await sse.writeSSE({ event: 'run:error', data: JSON.stringify({ type: 'run:error', message: String(error) }) })
    } finally {
      done()
    }
  })
}
