import type { TurnView } from '@allium/core'
import type { FlowSource } from './labels.ts'

/** The layer asked for approval of a call, denied it, hid a tool, or removed links from an answer. */
export interface FlowEvent {
  type: 'guard:flow'
  layer: string
  action: 'ask' | 'deny' | 'hide' | 'remove'
  tool?: string
  callId?: string
  untrusted?: FlowSource
  private?: FlowSource
}

declare module '@allium/core' {
  interface AgentEvents {
    'guard:flow': FlowEvent
  }
}

export function emitFlowEvent(ctx: TurnView, event: Omit<FlowEvent, 'type'>): void {
  ctx.emit({ type: 'guard:flow', ...event })
}
