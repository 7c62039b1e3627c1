#!/usr/bin/env node
import { main } from './main.ts'

// A reader that left, such as `head`, ends the command.
process.stdout.on('error', () => process.exit())
const code = await main(process.argv.slice(2), process)
for (const stream of [process.stdout, process.stderr]) await new Promise((written) => stream.write('', written))
// What a config has left open does not keep the command alive.
process.exit(code)
