import type { FileView } from '@allium/server/inspect'
import { isFile, textOf } from './content.ts'
import type { StoredPart } from './sessions.ts'

/** A part of an answer that is streamed. */
export type AnswerItem =
  | { kind: 'step' }
  | { kind: 'text' | 'reasoning'; text: string }
  | { kind: 'file'; file: FileView }
  | { kind: 'steer'; id: string; outcome: string }
  | ToolItem

export interface ToolItem {
  kind: 'tool'
  callId: string
  name: string
  /** The arguments: an object, or the part of their text that has arrived. */
  args: unknown
  result?: string
  status: string
}

interface StreamedEvent {
  type: string
  [field: string]: unknown
}

/** Adds an event of a run to its answer. */
export function addToAnswer(items: AnswerItem[], event: StreamedEvent): void {
  switch (event.type) {
    case 'text-delta':
      return addText(items, 'text', String(event.delta))
    case 'reasoning-delta':
      return addText(items, 'reasoning', String(event.delta))
    case 'file': {
      const part = event as unknown as StoredPart
      return void items.push(
        isFile(part) ? { kind: 'file', file: part } : { kind: 'text', text: textOf({ content: [part] }) },
      )
    }
    case 'step:start':
      return void items.push({ kind: 'step' })
    case 'tool-input-start':
      return void toolOf(items, event)
    case 'tool-input-delta': {
      const tool = toolOf(items, event)
      if (typeof tool.args === 'string') tool.args += String(event.delta)
      return
    }
    case 'tool:start':
      Object.assign(toolOf(items, event), { args: event.args, status: 'running' })
      return
    case 'tool:end':
      Object.assign(toolOf(items, event), { result: String(event.content), status: event.status })
      return
    case 'model:reset':
      return reset(items)
    case 'steer:delivered':
      return void items.push({ kind: 'steer', id: String(event.id), outcome: 'delivered' })
    case 'steer:rejected':
      return void items.push({ kind: 'steer', id: String(event.id), outcome: `rejected: ${String(event.reason)}` })
  }
}

function addText(items: AnswerItem[], kind: 'text' | 'reasoning', delta: string): void {
  const last = items.at(-1)
  if (last?.kind === kind) last.text += delta
  else items.push({ kind, text: delta })
}

/** Finds a call from the end, where it almost always is. */
function toolOf(items: AnswerItem[], event: StreamedEvent): ToolItem {
  const callId = String(event.callId)
  for (let index = items.length - 1; index >= 0 && index > items.length - 200; index--) {
    const item = items[index]
    if (item?.kind === 'tool' && item.callId === callId) return item
  }
  const tool: ToolItem = { kind: 'tool', callId, name: String(event.name), args: '', status: 'calling' }
  items.push(tool)
  return tool
}

/** Removes the output of the current step, because another attempt follows. */
function reset(items: AnswerItem[]): void {
  while (items.length > 0 && items.at(-1)?.kind !== 'step') items.pop()
}
