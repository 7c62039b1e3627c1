import type { Format } from '../format.ts'
import { anthropicFormats } from './anthropic.ts'
import { bedrock } from './bedrock.ts'
import { chatFormats } from './chat-dialects.ts'
import { cohere } from './cohere.ts'
import { gemini } from './gemini.ts'
import { ollama } from './ollama.ts'
import { responsesFormats } from './responses-dialects.ts'

/** The wire formats, by the name that rows use. A new one is a module of this folder and a place in this list. */
export const formats: readonly Format[] = [
  ...chatFormats,
  ...responsesFormats,
  ...anthropicFormats,
  gemini,
  cohere,
  bedrock,
  ollama,
]
