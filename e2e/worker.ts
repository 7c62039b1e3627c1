import { turnInBrowser } from './in-browser.ts'

postMessage(await turnInBrowser())
