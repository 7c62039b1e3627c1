import { cleanUp } from './clean-up.ts'

const { text, toolCalls } = await cleanUp(10)
for (const { args, result } of toolCalls) console.log(`${result.status.padEnd(7)} ${args.command}`)
console.log(`answer  ${text}`)
