import { render } from 'preact'
import { App } from './app.tsx'
import { connect } from './store/store.ts'
import './page.css'

const root = document.getElementById('root')
if (root !== null) render(<App />, root)
connect()
