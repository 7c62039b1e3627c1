import { send, serve } from './serve.ts'

/** Anthropic's API without failures. */
export function anthropicServer() {
  const message = { id: 'msg_1', model: 'claude-sonnet-4-6', role: 'assistant', content: [], stop_reason: null }
  const piece = (text: string) => ({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } })
  return serve('Anthropic', [
    {
      as: 'an answer',
      answer: send([
        { type: 'message_start', message: { ...message, usage: { input_tokens: 20, output_tokens: 1 } } },
        { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
        piece('Your parcel'),
        piece(' arrives today.'),
        { type: 'content_block_stop', index: 0 },
        { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 7 } },
        { type: 'message_stop' },
      ]),
    },
  ])
}
