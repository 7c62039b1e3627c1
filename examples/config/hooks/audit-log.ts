import type { ToolResultContext } from 'allium/config'

export default async ({ toolCall, result }: ToolResultContext) => {
  console.log(`audit   ${toolCall.name} ${toolCall.arguments} → ${result.content}`)
}
