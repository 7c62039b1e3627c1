import { serve } from '@hono/node-server'

/** Listens on a free port. */
export function listen(app, close) {
  return new Promise((resolve) => {
    const server = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }, ({ port }) =>
      resolve({
        port,
        async close() {
          server.closeAllConnections()
          await new Promise((done) => server.close(done))
          await close()
        },
      }),
    )
  })
}
