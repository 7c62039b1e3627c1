import { splitModelId } from './model-id.ts'

/**
 * Names in the provider ids of @pydantic/genai-prices. The list takes 45 ms of CPU and 3 MB to load, and a server of your own has no
 * price in it. A name that matches too much costs only that. A test compares the names with the list.
 */
const names =
  /anthropic|arcee|avian|aws|amazon|azure|baseten|bedrock|cerebras|cloudflare|cohere|copilot|cursor|deepseek|doubleword|fireworks|gemini|google|groq|huggingface|litellm|minimax|mistral|modal|moonshot|novita|openai|openrouter|ovhcloud|perplexity|quicksilverpro|together|typesafe|vertex|voyage|x-?ai|zai|zhipuai/i

/** Whether the public list may have a price of the model. Models without a provider are found by their name. */
export function mayBeListed(model: string): boolean {
  const { providerId } = splitModelId(model)
  return providerId === undefined || names.test(providerId)
}
