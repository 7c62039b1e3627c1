// Any program can be a hook. It reads JSON from stdin and writes JSON to stdout.
import { json } from 'node:stream/consumers'
import { parseArgs } from 'node:util'

const { toolCall } = await json(process.stdin)
const { values } = parseArgs({ options: { from: { type: 'string' }, to: { type: 'string' } } })
const hour = Number(process.env.OFFICE_HOUR ?? new Date().getHours())
console.error(`${toolCall.name} at ${hour} o'clock`) // logged at debug level
if (hour < Number(values.from) || hour >= Number(values.to))
  console.log(JSON.stringify({ deny: 'The office is closed.' }))
