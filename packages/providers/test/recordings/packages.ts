import { createAmazonBedrock as bedrockV3 } from '@ai-sdk/amazon-bedrock'
import { createAmazonBedrock as bedrockV4 } from '@ai-sdk/amazon-bedrock-v4'
import { anthropic as anthropicToolsV3, createAnthropic as anthropicV3 } from '@ai-sdk/anthropic'
import { anthropic as anthropicToolsV2, createAnthropic as anthropicV2 } from '@ai-sdk/anthropic-v2'
import { anthropic as anthropicToolsV4, createAnthropic as anthropicV4 } from '@ai-sdk/anthropic-v4'
import { google as googleToolsV3, createGoogleGenerativeAI as googleV3 } from '@ai-sdk/google'
import { google as googleToolsV2, createGoogleGenerativeAI as googleV2 } from '@ai-sdk/google-v2'
import { google as googleToolsV4, createGoogleGenerativeAI as googleV4 } from '@ai-sdk/google-v4'
import { openai as openaiToolsV3, createOpenAI as openaiV3 } from '@ai-sdk/openai'
import { createOpenAICompatible as compatibleV3 } from '@ai-sdk/openai-compatible'
import { createOpenAICompatible as compatibleV2 } from '@ai-sdk/openai-compatible-v2'
import { createOpenAICompatible as compatibleV4 } from '@ai-sdk/openai-compatible-v4'
import { openai as openaiToolsV2, createOpenAI as openaiV2 } from '@ai-sdk/openai-v2'
import { openai as openaiToolsV4, createOpenAI as openaiV4 } from '@ai-sdk/openai-v4'
import { xai as xaiToolsV3, createXai as xaiV3 } from '@ai-sdk/xai'
import { createXai as xaiV2 } from '@ai-sdk/xai-v2'
import { xai as xaiToolsV4, createXai as xaiV4 } from '@ai-sdk/xai-v4'
import type { AiSdkModel } from '@allium/providers'

export type Version = 'v2' | 'v3' | 'v4'
type Fetch = typeof globalThis.fetch

/** The models of one wire format, by the version of the specification that their package speaks. */
export type Models = Partial<Record<Version, (fetch: Fetch) => AiSdkModel>>

const apiKey = 'sk-test'
/** Ids of a package's own making, the same in each replay. */
function ids(): () => string {
  let count = 0
  return () => `id-${++count}`
}

const compatible = { name: 'acme', baseURL: 'https://acme.example/v1', apiKey, includeUsage: true }
const bedrock = { apiKey, region: 'us-east-1' }

export const responses = (id = 'gpt-5'): Models => ({
  v2: (fetch) => openaiV2({ apiKey, fetch }).responses(id),
  v3: (fetch) => openaiV3({ apiKey, fetch }).responses(id),
  v4: (fetch) => openaiV4({ apiKey, fetch }).responses(id),
})
export const chat = (id = 'gpt-4o'): Models => ({
  v2: (fetch) => openaiV2({ apiKey, fetch }).chat(id),
  v3: (fetch) => openaiV3({ apiKey, fetch }).chat(id),
  v4: (fetch) => openaiV4({ apiKey, fetch }).chat(id),
})
export const anthropic = (id = 'claude-sonnet-4-6'): Models => ({
  v2: (fetch) => anthropicV2({ apiKey, fetch })(id),
  v3: (fetch) => anthropicV3({ apiKey, fetch })(id),
  v4: (fetch) => anthropicV4({ apiKey, fetch })(id),
})
export const google = (id = 'gemini-2.5-flash'): Models => ({
  v2: (fetch) => googleV2({ apiKey, fetch, generateId: ids() })(id),
  v3: (fetch) => googleV3({ apiKey, fetch, generateId: ids() })(id),
  v4: (fetch) => googleV4({ apiKey, fetch, generateId: ids() })(id),
})
export const interactions = (id = 'gemini-2.5-flash'): Models => ({
  v3: (fetch) => googleV3({ apiKey, fetch, generateId: ids() }).interactions(id),
  v4: (fetch) => googleV4({ apiKey, fetch, generateId: ids() }).interactions(id),
})
export const acme = (id = 'm-1'): Models => ({
  v2: (fetch) => compatibleV2({ ...compatible, fetch })(id),
  v3: (fetch) => compatibleV3({ ...compatible, fetch })(id),
  v4: (fetch) => compatibleV4({ ...compatible, fetch })(id),
})
export const xai = (id = 'grok-4'): Models => ({
  v2: (fetch) => xaiV2({ apiKey, fetch }).responses(id),
  v3: (fetch) => xaiV3({ apiKey, fetch }).responses(id),
  v4: (fetch) => xaiV4({ apiKey, fetch }).responses(id),
})
export const converse = (id = 'anthropic.claude-sonnet-4-6'): Models => ({
  v3: (fetch) => bedrockV3({ ...bedrock, fetch })(id),
  v4: (fetch) => bedrockV4({ ...bedrock, fetch })(id),
})

export const openaiTools = { v2: openaiToolsV2.tools, v3: openaiToolsV3.tools, v4: openaiToolsV4.tools }
export const anthropicTools = { v2: anthropicToolsV2.tools, v3: anthropicToolsV3.tools, v4: anthropicToolsV4.tools }
export const googleTools = { v2: googleToolsV2.tools, v3: googleToolsV3.tools, v4: googleToolsV4.tools }
export const xaiTools = { v3: xaiToolsV3.tools, v4: xaiToolsV4.tools }
