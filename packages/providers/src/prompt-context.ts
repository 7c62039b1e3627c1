import type { ImagePart, Message, Part, ProviderApprovalRequest } from '@allium/core'
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
  /** Receives the images of tool results, if the model's API has only text in these. */
  moved?: ImagePart[]
  /** Receives the original messages or part of each piece. */
  origin?: (promptPart: PromptPart, of: Message | Part) => void
}

/** The approvals that providers requested, by call. */
export type ApprovalRequests = Map<string, ProviderApprovalRequest>
