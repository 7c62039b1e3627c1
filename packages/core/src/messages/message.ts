/** Data that a provider adds to a part and expects back unchanged in the next step, by provider, such as thinking signatures. */
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
  /** The file belongs to the model's reasoning, not to its answer. */
  reasoning?: boolean
}
/** Provider-specific data that the provider expects back in the next step, such as the summary of a compaction. */
export interface CustomPart extends PartBase {
  type: 'custom'
  /** Its kind, as named by the provider: `openai.compaction`. */
  kind: string
}
/** A provider's request for approval before it runs a call itself, such as a call to an MCP server. */
export interface ProviderApprovalRequest {
  /** The provider's id of the request. */
  id: string
  /** The provider that sent the request, and the only one that gets the answer. */
  provider: string
  /** The label of the MCP server for the call. */
  server?: string
}
export interface ToolCallPart extends PartBase {
  type: 'tool-call'
  callId: string
  name: string
  args: Record<string, unknown>
  /** The provider ran the call itself. Its result is later in the same message, or in a later message of the turn. */
  providerExecuted?: boolean
  /** The provider runs the call once it is approved. Its result then arrives as a separate call. */
  approvalRequest?: ProviderApprovalRequest
}
export interface ToolResultPart extends PartBase {
  type: 'tool-result'
  callId: string
  name: string
  content: string | Part[]
  isError?: boolean
  /** The content is JSON, because the tool's result was not text. Providers that accept values get the value. */
  json?: boolean
  /** The labels that the tool or a layer set on this result, for `guard.flow`. Not sent to models. */
  flow?: { untrusted?: boolean; private?: boolean }
  /** The approval decision and the approver. Not sent to models. */
  approval?: ApprovalRecord
  /** The answer to the call's `approvalRequest`: `true` lets the provider run it. Any other value is sent as a denial. */
  approved?: boolean
  /** Proves that the core approved it, if the agent has `approvals.secret`. */
  approvalSeal?: string
  /** A placeholder for a result that the provider never sent. It is not sent back to the provider. */
  missing?: boolean
}
export type Part = TextPart | ReasoningPart | ImagePart | FilePart | CustomPart | ToolCallPart | ToolResultPart

export type Role = 'system' | 'user' | 'assistant' | 'tool'

export interface Message {
  role: Role
  content: string | Part[]
  id?: string
  /** The answer was cut off by an abort, a stop or a disconnect. */
  interrupted?: boolean
  /** Set for a message that arrived during its turn: the id in its `steer:delivered` event. Not sent to models. */
  steer?: string
  /** The labels of its text, for `guard.flow`: set by a layer that adds the message. Not sent to models. */
  flow?: { untrusted?: boolean; private?: boolean }
}

/** The input of `run()`: a text, a message, or several. */
export type Input = string | Message | readonly Message[]

/** Returns the joined text parts of a message. */
export function textOf(message: Message): string {
  if (typeof message.content === 'string') return message.content
  let text = ''
  for (const part of message.content) if (part.type === 'text') text += part.text
  return text
}

/** How a tool call ended. */
export type ToolStatus = 'ok' | 'error' | 'denied' | 'skipped' | 'suspended'

/** The tenant and user of a principal, or the operator of a durable run. */
export interface Identity {
  tenantId?: string
  userId?: string
  /** The name of an operator, who is no user. Only `operations().deny()` of `@allium/durable` sets it. */
  operator?: string
}

/** A human's decision, as stored with the result of its call. */
export interface ApprovalRecord {
  decision: 'approved' | 'denied' | 'edited'
  /** The approver, from the verified principal. Never from the decision itself. */
  by?: Identity
  /** Milliseconds since the epoch. */
  at: number
  /** For edited arguments, if the agent has a secret: a keyed digest, which only proves whether given arguments are the same. */
  digest?: string
  /** The decision comes from an earlier approval of the same call. */
  remembered?: true
}
