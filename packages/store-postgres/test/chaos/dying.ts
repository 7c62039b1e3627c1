import pg from 'pg'
import { beforeStatement } from '../../../store-sqlite/test/before-statement.ts'
import { type PostgresClient, postgres } from '../../src/index.ts'
import { type Job, type Opened, open } from './scene.ts'

/** A store of which a statement that makes its tables is the last: SQLite's before it, Postgres' right after it was sent. */
export function dying(job: Job, reach: (label: 'migrate') => void): Opened {
  const isIt = counted(job.statement)
  if (job.kind === 'sqlite') {
    beforeStatement(() => isIt() && reach('migrate'))
    return open(job)
  }
  const pool = new pg.Pool({ connectionString: job.at, max: 1 })
  const connect = async () => watchedClient(await pool.connect(), () => isIt() && setImmediate(reach, 'migrate'))
  return postgres({ pool: { connect }, schema: job.schema })
}

function watchedClient(client: PostgresClient, sent: () => unknown): PostgresClient {
  return {
    query(text, values) {
      const result = client.query(text, values)
      sent()
      return result
    },
    release: (destroy) => client.release(destroy),
    on: (event, listener) => client.on(event, listener),
    off: (event, listener) => client.off(event, listener),
  }
}

function counted(place: number): () => boolean {
  let count = 0
  return () => ++count === place
}
