import { refuse, send, serve } from './serve.ts'

/** OpenAI's API with failures: a 429, a 503, and an answer that is cut. After that it works. */
export function openAiServer() {
  return serve('OpenAI', [
    { as: '429, retry after 50 ms', answer: refuse(429, 'Slow down.', { 'retry-after-ms': '50', 'retry-after': '1' }) },
    { as: '503', answer: refuse(503, 'Overloaded.') },
    { as: 'a stream that is cut', answer: send(said('Your parcel', ' is on'), { cut: true }) },
    { as: 'an answer', answer: send([...said('You are', ' welcome.'), completed]) },
  ])
}

const item = { type: 'message', id: 'msg_1' }
const usage = { input_tokens: 30, output_tokens: 5 }
const completed = { type: 'response.completed', response: { id: 'resp_1', usage } }

function said(...pieces: string[]) {
  return [
    { type: 'response.created', response: { id: 'resp_1', created_at: 1, model: 'gpt-5-mini' } },
    { type: 'response.output_item.added', output_index: 0, item },
    ...pieces.map((delta) => ({ type: 'response.output_text.delta', item_id: 'msg_1', delta })),
  ]
}
