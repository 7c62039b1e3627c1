import type { FilePart, ImagePart, Message, Part, ProviderApprovalRequest, TextPart } from '@allium/core'
import type { AiSdkModel, UrlPatterns } from './ai-sdk-model.ts'
import type { Dialect } from './dialect.ts'
import type { ProviderTools } from './provider-tools.ts'

/** A message or a part in the AI SDK's form. */
export type PromptPart = { [key: string]: unknown }

/** The input of the conversion besides the messages. */
export interface PromptContext {
  model: AiSdkModel
  dialect: Dialect
  tools: ProviderTools
  urls: UrlPatterns | undefined
  /** Replaces the files that the model's package cannot send. A middleware gets all files as they are. */
  media?: PromptMedia
  /** Receives the original messages or part of each piece. */
  origin?: (promptPart: PromptPart, of: Message | Part) => void
}

/** The files of a prompt. */
export interface PromptMedia {
  /** Whether a tool result may have only one text. */
  readonly joinsTexts: boolean
  /** Returns the parts of a tool result as the package can send them. */
  result(parts: readonly Part[]): Part[]
  /** Returns a file of a message, or the text in its place. */
  message(part: ImagePart | FilePart): ImagePart | FilePart | TextPart
  /** Takes the images of the tool results that follow in a message of their own. */
  takeMoved(): ImagePart[]
}

/** The approvals that providers requested, by call. */
export type ApprovalRequests = Map<string, ProviderApprovalRequest>
