import type { ApprovalRecord } from './approval-record.ts'

/** What a provider adds to a part and wants back unchanged in the next step, by provider: thinking signatures and the like. */
export type ProviderMetadata = Record<string, Record<string, unknown>>

interface PartBase {
  providerMetadata?: ProviderMetadata
}
export interface TextPart extends PartBase {
  type: 'text'
  text: string
}
export interface ReasoningPart extends PartBase {
  type: 'reasoning'
  text: string
}
/** An image. `data` is raw bytes, a URL, or base64 text. */
export interface ImagePart extends PartBase {
  type: 'image'
  data: Uint8Array | URL | string
  mediaType: string
}
/** Any other file, by its media type. `data` is raw bytes, a URL, or base64 text. */
export interface FilePart extends PartBase {
  type: 'file'
  data: Uint8Array | URL | string
  mediaType: string
  filename?: string
  /** It belongs to the model's thoughts, not to its answer. */
  reasoning?: boolean
}
/** Something that only its provider knows, and wants back in the next step: the summary of a compaction, say. */
export interface CustomPart extends PartBase {
  type: 'custom'
  /** What it is, as its provider names it: `openai.compaction`. */
  kind: string
}
/** A provider asks for an approval before it runs a call itself, such as a call of an MCP server that it reaches. */
export interface ProviderApprovalRequest {
  /** The id that the provider gave the request. */
  id: string
  /** The provider that asks, and the only one that gets the answer. */
  provider: string
  /** The label of the MCP server that the call is for. */
  server?: string
}
export interface ToolCallPart extends PartBase {
  type: 'tool-call'
  callId: string
  name: string
  args: Record<string, unknown>
  /** The provider ran it itself: its result follows in the same message, or in a later one of the turn. */
  providerExecuted?: boolean
  /** The provider runs the call once it is approved. Its result then comes as a call of its own. */
  approvalRequest?: ProviderApprovalRequest
}
export interface ToolResultPart extends PartBase {
  type: 'tool-result'
  callId: string
  name: string
  content: string | Part[]
  isError?: boolean
  /** The content is JSON: what the tool gave was no text. Providers that take values get the value. */
  json?: boolean
  /** What the tool, or a layer, said of this result, for `guard.flow`. Models are not sent it. */
  flow?: { untrusted?: boolean; private?: boolean }
  /** What a human has decided of the call, and who that was. Models are not sent it. */
  approval?: ApprovalRecord
  /** The answer to the call's `approvalRequest`: the provider may run it. Anything but `true` is sent as a refusal. */
  approved?: boolean
  /** Proves that the core has approved it, if the agent has `approvals.secret`. */
  approvalSeal?: string
  /** The provider ran the call, and its result never came: this one stands in its place, and is not sent on. */
  missing?: boolean
}
export type Part = TextPart | ReasoningPart | ImagePart | FilePart | CustomPart | ToolCallPart | ToolResultPart

export type Role = 'system' | 'user' | 'assistant' | 'tool'

export interface Message {
  role: Role
  content: string | Part[]
  id?: string
  /** The answer was cut by an abort, a stop or a disconnect. */
  interrupted?: boolean
  /** It was said while its turn ran: the id by which `steer:heard` told of it. Models are not sent it. */
  steer?: string
}

/** What `run()` takes as input: a text, a message, or several. */
export type Input = string | Message | readonly Message[]

/** The text of a message, its text parts joined. */
export function textOf(message: Message): string {
  if (typeof message.content === 'string') return message.content
  let text = ''
  for (const part of message.content) if (part.type === 'text') text += part.text
  return text
}
