import { once } from 'node:events'
import { appendFileSync } from 'node:fs'
import { connect } from 'node:net'

// The client of a scenario that runs beside others: it waits for its turn before it loads anything, and writes down how it ended.
const { TURNS = '', ENDS = '', CLIENT = '', MCP_CONFORMANCE_SCENARIO: scenario } = process.env
process.on('exit', (code) => appendFileSync(ENDS, `${scenario} ${code}\n`))
// The connection ends with the process.
const turn = connect(Number(TURNS), '127.0.0.1')
await once(turn, 'data')
turn.unref()
await import(CLIENT)
