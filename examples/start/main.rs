use std::env::var;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let url = format!("{}/ingest", var("TAFFRAIL_URL")?);
    let mut response = ureq::post(&url)
        .header("Authorization", &format!("Bearer {}", var("TAFFRAIL_API_KEY")?))
        .header("Content-Type", "application/json")
        .send(r#"{"level":"info","message":"Hello from Rust","cart":3}"#)?;
    println!("{} {}", response.status(), response.body_mut().read_to_string()?);
    Ok(())
}
