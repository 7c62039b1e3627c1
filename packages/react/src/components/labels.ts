import type { MessageStatus, ToolState } from '../store/chat-message.ts'
import type { ChatStatus } from '../store/chat-state.ts'

/** The texts of the components. Pass your own to `Thread` to translate them. */
export interface Labels {
  thread: string
  messages: string
  roles: Readonly<Record<'user' | 'assistant' | 'system', string>>
  /** Shown next to the author of a message; empty texts are left out. */
  messageStatus: Readonly<Record<MessageStatus, string>>
  toolState: Readonly<Record<ToolState, string>>
  /** Announced to screen readers when the status changes. */
  status: Readonly<Record<ChatStatus, string>>
  reasoning: string
  arguments: string
  result: string
  approval(tool: string): string
  approve: string
  deny: string
  reason: string
  composer: string
  send: string
  queue: string
  steer: string
  stop: string
  retry: string
  queued: string
  removeQueued(text: string): string
  edit: string
  cancel: string
  regenerate: string
}

export const englishLabels: Labels = {
  thread: 'Chat',
  messages: 'Messages',
  roles: { user: 'You', assistant: 'Assistant', system: 'System' },
  messageStatus: {
    done: '',
    sending: 'Sending',
    unsent: 'Not sent',
    streaming: '',
    suspended: 'Waiting for your decision',
    stopped: 'Stopped',
    blocked: 'Blocked',
    failed: 'Failed',
  },
  toolState: {
    input: 'Preparing',
    running: 'Running',
    pending: 'Waiting',
    deciding: 'Sending your decision',
    done: 'Done',
    error: 'Failed',
    denied: 'Denied',
  },
  status: {
    loading: 'Loading messages',
    idle: '',
    sending: 'Sending',
    streaming: 'The assistant is answering',
    stopping: 'Stopping',
    suspended: 'A tool call waits for your decision',
    failed: '',
  },
  reasoning: 'Reasoning',
  arguments: 'Arguments',
  result: 'Result',
  approval: (tool) => `Allow ${tool}?`,
  approve: 'Approve',
  deny: 'Deny',
  reason: 'Reason (optional)',
  composer: 'Message',
  send: 'Send',
  queue: 'Send next',
  steer: 'Send now',
  stop: 'Stop',
  retry: 'Try again',
  queued: 'Waiting to be sent',
  removeQueued: (text) => `Remove: ${text}`,
  edit: 'Edit',
  cancel: 'Cancel',
  regenerate: 'Answer again',
}
