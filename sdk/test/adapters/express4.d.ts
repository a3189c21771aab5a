/** Express 4 has no types here. The tests use only members that version 5 has too. */
declare module "express4" {
  import express from "express";
  export default express;
}
