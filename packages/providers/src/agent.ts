export { type AiSdkAgent, type ToAiSdkAgentOptions, toAiSdkAgent } from './agent/to-ai-sdk-agent.ts'
