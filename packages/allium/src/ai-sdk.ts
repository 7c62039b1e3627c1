// An agent of Allium as an agent of the AI SDK
export { type AiSdkAgent, type ToAiSdkAgentOptions, toAiSdkAgent } from '@allium/providers/agent'
