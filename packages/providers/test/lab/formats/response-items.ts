import type { Call } from '../format.ts'
import { halves } from './halves.ts'
import { typed } from './sse.ts'

export function reasoningItem(text: string, output_index: number): string[] {
  const item = {
    type: 'reasoning',
    id: `rs_lab${output_index}`,
    summary: [],
    encrypted_content: null,
    status: 'in_progress',
  }
  const place = { item_id: item.id, output_index, summary_index: 0 }
  const summary = { type: 'summary_text', text }
  return [
    typed('response.output_item.added', { output_index, item }),
    typed('response.reasoning_summary_part.added', { ...place, part: { type: 'summary_text', text: '' } }),
    ...halves(text).map((delta) => typed('response.reasoning_summary_text.delta', { ...place, delta })),
    typed('response.reasoning_summary_part.done', { ...place, part: summary }),
    typed('response.output_item.done', {
      output_index,
      item: { ...item, status: 'completed', summary: [summary], encrypted_content: 'lab-encrypted' },
    }),
  ]
}

/** Reasoning as models with open weights have it: the text itself. */
export function reasoningText(text: string, output_index: number): string[] {
  const item = { type: 'reasoning', id: `rs_lab${output_index}`, summary: [], content: [], status: 'in_progress' }
  const place = { item_id: item.id, output_index, content_index: 0 }
  return [
    typed('response.output_item.added', { output_index, item }),
    ...halves(text).map((delta) => typed('response.reasoning_text.delta', { ...place, delta })),
    typed('response.reasoning_text.done', { ...place, text }),
    typed('response.output_item.done', {
      output_index,
      item: { ...item, status: 'completed', content: [{ type: 'reasoning_text', text }] },
    }),
  ]
}

export function message(text: string, output_index: number): string[] {
  const item = { type: 'message', id: `msg_lab${output_index}`, role: 'assistant', status: 'in_progress', content: [] }
  const place = { item_id: item.id, output_index, content_index: 0 }
  const part = { type: 'output_text', text, annotations: [] }
  return [
    typed('response.output_item.added', { output_index, item }),
    typed('response.content_part.added', { ...place, part: { ...part, text: '' } }),
    ...halves(text).map((delta) => typed('response.output_text.delta', { ...place, delta })),
    typed('response.output_text.done', { ...place, text }),
    typed('response.content_part.done', { ...place, part }),
    typed('response.output_item.done', { output_index, item: { ...item, status: 'completed', content: [part] } }),
  ]
}

export function functionCall({ id, name, args }: Call, output_index: number): string[] {
  const item = {
    type: 'function_call',
    id: `fc_lab${output_index}`,
    call_id: id,
    name,
    arguments: '',
    status: 'in_progress',
  }
  const place = { item_id: item.id, output_index }
  return [
    typed('response.output_item.added', { output_index, item }),
    ...(args === '' ? [] : halves(args)).map((delta) =>
      typed('response.function_call_arguments.delta', { ...place, delta }),
    ),
    typed('response.function_call_arguments.done', { ...place, arguments: args }),
    typed('response.output_item.done', { output_index, item: { ...item, arguments: args, status: 'completed' } }),
  ]
}
