/** Express 4 has no types here; what the tests use of it is the same in version 5. */
declare module "express4" {
  import express from "express";
  export default express;
}
