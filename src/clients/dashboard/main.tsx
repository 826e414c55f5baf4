/** Entry point: renders the application into the document. */
import { render } from 'preact'
import { App } from './app.tsx'
import { applyTheme } from './model/index.ts'
import './styles/base.css'
import './styles/frame.css'
import './styles/parts.css'
import './styles/tables.css'
import './styles/views.css'
import 'uplot/dist/uPlot.min.css'

applyTheme()
const root = document.getElementById('app')
if (root !== null) render(<App />, root)
