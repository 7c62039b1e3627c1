export { Approval, type ApprovalProps } from './components/approval.tsx'
export { Composer, type ComposerProps } from './components/composer.tsx'
export { ErrorNotice } from './components/error-notice.tsx'
export type { Labels } from './components/labels.ts'
export { Message, type MessageProps } from './components/message.tsx'
export { Messages, type MessagesProps } from './components/messages.tsx'
export { Queue } from './components/queue.tsx'
export { Regenerate } from './components/regenerate.tsx'
export { Thread, type ThreadProps } from './components/thread.tsx'
export { ToolCall, type ToolCallProps } from './components/tool-call.tsx'
export type { ChatError, ErrorAction } from './store/chat-error.ts'
export {
  type ChatMessage,
  type FilePart,
  type MessagePart,
  type MessageStatus,
  messageText,
  type ReasoningPart,
  type SourcePart,
  type SteerPart,
  type TextPart,
  type ToolPart,
  type ToolState,
} from './store/chat-message.ts'
export type { ChatOptions } from './store/chat-options.ts'
export type { ChatState, ChatStatus, QueuedInput } from './store/chat-state.ts'
export { ChatStore } from './store/chat-store.ts'
export type { ChatStorage } from './store/outbox.ts'
export { type ChatSession, useSession } from './use-session.ts'
