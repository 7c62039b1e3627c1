import { turnInBrowser } from './in-browser.ts'

const inWorker = new Promise((resolve) => {
  new Worker('/worker.js', { type: 'module' }).onmessage = ({ data }) => resolve(data)
})
const inPage = turnInBrowser()
await fetch('/outcome', { method: 'POST', body: JSON.stringify({ page: await inPage, worker: await inWorker }) })
