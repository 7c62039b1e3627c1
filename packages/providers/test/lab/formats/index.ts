import type { Format } from '../format.ts'
import { anthropic } from './anthropic.ts'
import { bedrock } from './bedrock.ts'
import { chatFormats } from './chat-dialects.ts'
import { cohere } from './cohere.ts'
import { gemini } from './gemini.ts'
import { ollama } from './ollama.ts'
import { openaiResponses } from './openai-responses.ts'

/** The wire formats, by the name that rows use. A new one is a module of this folder and a place in this list. */
export const formats: readonly Format[] = [...chatFormats, openaiResponses, anthropic, gemini, cohere, bedrock, ollama]
