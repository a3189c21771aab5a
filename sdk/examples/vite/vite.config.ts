import { defineConfig } from "vite";

export default defineConfig({
  server: {
    proxy: {
      // An object, because with a string Vite replaces `Host`, and the backend refuses pages of another host with 403.
      "/logs": { target: `http://localhost:${process.env.BACKEND_PORT ?? 3000}`, changeOrigin: false },
    },
  },
});
