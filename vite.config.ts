/** Builds the dashboard: `npm run build:dashboard`. Names of files carry a hash of their content, so that they may be kept for ever. */
import { defineConfig } from 'vite'

export default defineConfig({
  root: 'src/clients/dashboard',
  base: '/',
  publicDir: false,
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    outDir: '../../../dist/dashboard',
    emptyOutDir: true,
    target: 'es2023',
    // A strict policy lets no script stand in the document.
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    reportCompressedSize: true,
  },
})
