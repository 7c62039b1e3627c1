#!/usr/bin/env node
import { main } from './main.ts'

// Exit when the reader of stdout has left, such as `head`.
process.stdout.on('error', () => process.exit())
const code = await main(process.argv.slice(2), process)
for (const stream of [process.stdout, process.stderr]) await new Promise((written) => stream.write('', written))
// Exit even if the config left handles open.
process.exit(code)
