import { anthropic as anthropic3 } from '@ai-sdk/anthropic'
import { anthropic as anthropic2 } from '@ai-sdk/anthropic-v2'
import { anthropic as anthropic4 } from '@ai-sdk/anthropic-v4'
import { openai } from '@ai-sdk/openai'
import { Agent, type ModelRef } from '@allium/core'
import type { LanguageModel } from 'ai'
import { adaptAiSdk } from '../src/index.ts'

// A model of the AI SDK of any version is taken wherever a model is.
const models: ModelRef[] = [anthropic2('claude'), anthropic3('claude'), anthropic4('claude')]
new Agent({ model: openai('gpt-5'), adaptModel: adaptAiSdk }).run('hello', { model: models[0] })
declare const any: LanguageModel
new Agent({ model: any, adaptModel: adaptAiSdk })

// @ts-expect-error: a provider is no model
new Agent({ model: openai, adaptModel: adaptAiSdk })
// @ts-expect-error: nor is what only looks a little like one
new Agent({ model: { modelId: 'gpt-5' }, adaptModel: adaptAiSdk })
