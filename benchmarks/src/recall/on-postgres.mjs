import { postgres } from '@allium/store-postgres'
import { postgresCpu } from '../request/scale/postgres-cpu.mjs'
import { recallReport } from './run.mjs'

// Measures recall in all stores. The Postgres at the given URL was started by the process that started this one.

const [url] = process.argv.slice(2)
const tell = (text) => process.stderr.isTTY && process.stderr.write(`\r\u001b[2K${text}`)
const report = await recallReport(tell, {
  open: (schema) => postgres({ url, schema }),
  cpu: () => postgresCpu(process.ppid),
})
console.log(report)
process.exit()
