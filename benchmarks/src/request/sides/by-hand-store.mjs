import Libsql from 'libsql'

/** The messages of each session, one row each. */
export function openStore(file, synchronous) {
  const db = new Libsql(file)
  db.exec(`pragma journal_mode = wal; pragma synchronous = ${synchronous}`)
  db.exec(
    'create table messages (session text, n integer, body text, at integer, primary key (session, n)) without rowid',
  )
  const load = db.prepare('select body from messages where session = ? order by n')
  const next = db.prepare('select coalesce(max(n), 0) + 1 as n from messages where session = ?')
  const insert = db.prepare('insert into messages values (?, ?, ?, ?)')
  const add = db.transaction((key, messages) => {
    let { n } = next.get([key])
    for (const message of messages) insert.run([key, n++, JSON.stringify(message), Date.now()])
  })
  return {
    load: (key) => load.all([key]).map(({ body }) => JSON.parse(body)),
    add,
    close: () => db.close(),
  }
}
